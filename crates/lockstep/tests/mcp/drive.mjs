// Drives `lockstep mcp` with the official MCP SDK. Its client checks every structured result against the tool's schema.
// Usage: node drive.mjs LOCKSTEP PROJECT CALLS.json; prints one JSON object.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [lockstep, project, callsFile] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(callsFile, "utf8"));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, LOCKSTEP_NOW: process.env.LOCKSTEP_NOW };
const transport = new StdioClientTransport({ command: lockstep, args: ["mcp"], cwd: project, env, stderr: "inherit" });
const client = new Client({ name: "drive", version: "1" });
await client.connect(transport);

const out = { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), calls: {} };
// The list makes the client keep the schemas of results.
out.tools = (await client.listTools()).tools.map((tool) => tool.name);
for (const [name, good, bad] of calls) {
  const failed = await client.callTool({ name, arguments: bad });
  const done = await client.callTool({ name, arguments: good });
  out.calls[name] = { failed: failed.isError === true, done: done.isError !== true && done.structuredContent !== undefined, said: failed.content[0].text };
}

out.resources = (await client.listResources()).resources.map((resource) => resource.uri);
out.templates = (await client.listResourceTemplates()).resourceTemplates.length;
out.task = (await client.readResource({ uri: "lockstep://task" })).contents[0].text;

// Every page of a long answer, with progress on the way.
let progress = [];
let [pages, found, cursor] = [0, 0, undefined];
do {
  const options = { onprogress: (step) => progress.push(step.progress) };
  const page = await client.callTool({ name: "references", arguments: { name: "src/long.py", cursor } }, undefined, options);
  found += page.structuredContent.references.length;
  cursor = page.structuredContent.next_cursor;
  pages += 1;
} while (cursor !== undefined);
Object.assign(out, { pages, found, progress });

// A request that is given up, and the server afterwards.
const controller = new AbortController();
const abandoned = client.callTool({ name: "impact", arguments: {} }, undefined, { signal: controller.signal });
controller.abort("changed my mind");
out.aborted = await abandoned.then(() => false, () => true);
await client.ping();
out.unknown = await client.callTool({ name: "no_such_tool", arguments: {} }).then((result) => result.isError === true, (error) => error.code === -32602);
const pid = transport.pid;
await client.close();
out.gone = (() => { try { process.kill(pid, 0); return false; } catch { return true; } })();
console.log(JSON.stringify(out));
