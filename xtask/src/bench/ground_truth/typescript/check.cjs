// Asks the TypeScript compiler about a project, and about the same project with one file changed, many times in one process.
// Nothing on disk is changed: a changed file exists only here. Files that the compiler's own builder finds unaffected by a
// change keep what was said about them.
//
// usage: node check.cjs TYPESCRIPT PROJECT   with a case per line on stdin: {"file": "src/a.ts", "text": "…"}
// Answers with a line per case, after one for the project as it is: {"src/a.ts": ["TS2304 at 12:7: …", …], …}
'use strict';
const path = require('node:path');
const readline = require('node:readline');
const ts = require(process.argv[2]);
const root = path.resolve(process.argv[3]);

const read = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
const config = ts.parseJsonConfigFileContent(read.config, ts.sys, root);
const host = ts.createCompilerHost(config.options);
const sources = new Map();
let changed = null;

function sourceFile(name, text, options) {
  const source = ts.createSourceFile(name, text, options, true);
  // The builder compares versions to see what changed.
  source.version = ts.sys.createHash(text);
  return source;
}

host.getSourceFile = (name, options) => {
  if (changed && path.resolve(name) === changed.name) return sourceFile(name, changed.text, options);
  if (!sources.has(name)) {
    const text = ts.sys.readFile(name);
    sources.set(name, text === undefined ? undefined : sourceFile(name, text, options));
  }
  return sources.get(name);
};

function check(before) {
  const builder = ts.createSemanticDiagnosticsBuilderProgram(config.fileNames, config.options, host, before);
  const said = {};
  const sources = builder.getSourceFiles().filter((it) => !it.isDeclarationFile || !it.fileName.includes('/node_modules/'));
  // Asked for all files at once: asked for one, the builder gives what it remembers.
  const diagnostics = [...sources.flatMap((it) => builder.getSyntacticDiagnostics(it)), ...builder.getSemanticDiagnostics()];
  for (const it of diagnostics) {
    if (it.category !== ts.DiagnosticCategory.Error || !it.file) continue;
    const file = path.relative(root, it.file.fileName);
    const text = ts.flattenDiagnosticMessageText(it.messageText, '\n').split('\n')[0];
    const { line, character } = it.file.getLineAndCharacterOfPosition(it.start ?? 0);
    (said[file] ??= []).push(`TS${it.code} at ${line + 1}:${character + 1}: ${text}`);
  }
  return [builder, said];
}

const [whole, said] = check(undefined);
console.log(JSON.stringify(said));
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { file, text } = JSON.parse(line);
  changed = { name: path.join(root, file), text };
  const [, now] = check(whole);
  console.log(JSON.stringify(now));
});
