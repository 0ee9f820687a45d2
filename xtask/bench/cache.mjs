// Builds a session cache as a Node program would: the same files read, the same sections written, a hash over the content of all
// inputs. Run in the project's root.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const hash = createHash('sha256');
let sources = 0;

function read(path) {
  const text = readFileSync(path, 'utf8');
  hash.update(path).update(text);
  sources += 1;
  return text;
}

function first(places) {
  const place = places.find((path) => existsSync(path));
  return place && read(place);
}

const config = (name) =>
  ['src/isdlc/config', '.isdlc/config', '.claude/hooks/config', 'src/claude/hooks/config'].map((dir) => join(dir, name));

function files(dir, wanted) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function skillFacts(path) {
  const text = read(path);
  const front = text.match(/^---\n([\s\S]*?)\n---/)?.[1] ?? '';
  const field = (name) => front.match(new RegExp(`^${name}: *(.*)$`, 'm'))?.[1];
  const id = field('skill_id') ?? text.match(/^# ([A-Z]+-\d+):/m)?.[1];
  const description = field('description') ?? text.match(/^## Description\n(.*)$/m)?.[1] ?? basename(dirname(path));
  return { id, name: basename(dirname(path)), description, path };
}

function skillIndex(manifest) {
  const skills = new Map();
  for (const dir of ['src/claude/skills', '.claude/skills'])
    for (const path of files(dir, (name) => name === 'SKILL.md')) {
      const facts = skillFacts(path);
      if (facts.id && !skills.has(facts.id)) skills.set(facts.id, facts);
    }
  return Object.entries(manifest.ownership)
    .map(([agent, { skills: ids }]) => {
      const lines = ids.filter((id) => skills.has(id)).map((id) => {
        const { name, description, path } = skills.get(id);
        return `  ${id}: ${name} — ${description}\n    → ${path}`;
      });
      return `## Agent: ${agent}\nAVAILABLE SKILLS (consult when relevant using Read tool):\n${lines.join('\n')}`;
    })
    .join('\n\n');
}

function external() {
  const manifest = JSON.parse(read('docs/isdlc/external-skills-manifest.json'));
  return manifest.skills
    .map(({ name, file, source, bindings: b }) => {
      const head = `### External Skill: ${name}\nSource: ${source}\nPhases: ${b.phases.join(', ')}\nAgents: ${b.agents.join(', ')}`;
      const text = read(join('.claude/skills/external', file)).slice(0, 5000);
      return `${head}\nInjection: ${b.injection_mode}\nDelivery: ${b.delivery_type}\n\n${text}`;
    })
    .join('\n\n---\n\n');
}

function roundtable() {
  const personas = files('src/claude/agents', (name) => name.startsWith('persona-'));
  const topics = files('src/claude/skills/analysis-topics', (name) => name.endsWith('.md'));
  return [
    ...personas.map((path) => `### Persona: ${basename(path, '.md')}\n${read(path)}`),
    ...topics.map((path) => `### Topic: ${basename(path, '.md')}\n${read(path)}`),
  ].join('\n\n');
}

const manifest = JSON.parse(first(config('skills-manifest.json')));
const { path_lookup, skill_paths, ...lean } = manifest;
const sections = {
  CONSTITUTION: first(['docs/isdlc/constitution.md', '.isdlc/constitution.md']),
  WORKFLOW_CONFIG: first(config('workflows.json')),
  ITERATION_REQUIREMENTS: first(config('iteration-requirements.json')),
  ARTIFACT_PATHS: first(config('artifact-paths.json')),
  SKILLS_MANIFEST: JSON.stringify(lean, null, 2),
  SKILL_INDEX: skillIndex(manifest),
  EXTERNAL_SKILLS: external(),
  ROUNDTABLE_CONTEXT: roundtable(),
};
const body = Object.entries(sections).map(([name, text]) => `<!-- SECTION: ${name} -->\n${text}\n<!-- /SECTION: ${name} -->`);
const header = `<!-- SESSION CACHE: Generated ${new Date().toISOString()} | Sources: ${sources} | Hash: ${hash.digest('hex').slice(0, 8)} -->`;
mkdirSync('node-out', { recursive: true });
writeFileSync('node-out/session-cache.md', [header, ...body].join('\n\n') + '\n');
