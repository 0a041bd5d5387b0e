// Lists and calls every tool of a server with the TypeScript SDK, and prints what came back.
// node mcp_client.mjs FOLDER-OF-PACKAGES ERA CALLS COMMAND…
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, era, calls, command, ...args] = process.argv.slice(2);
const find = createRequire(packages + "/package.json").resolve;
const load = (name) => import(pathToFileURL(find(name)));
const isOld = era === "sdk-1";
const base = isOld ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
const loaded = await load(isOld ? `${base}/index.js` : base);
const { StdioClientTransport } = await load(isOld ? `${base}/stdio.js` : `${base}/stdio`);
const Client = loaded.Client ?? loaded.default.Client;

const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
const client = new Client(
  { name: "test", version: "1" },
  { capabilities: { elicitation: {} }, ...(isOld ? {} : { versionNegotiation: { mode } }) },
);
const answer = async () => ({ action: "accept", content: { forget: true } });
if (isOld) {
  const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");
  client.setRequestHandler(ElicitRequestSchema, answer);
} else {
  client.setRequestHandler("elicitation/create", answer);
}
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const found = { tools: (await client.listTools()).tools.map((tool) => tool.name), results: {} };
for (const [name, given] of Object.entries(JSON.parse(calls))) {
  found.results[name] = await client.callTool({ name, arguments: given });
}
found.prompt = await client.getPrompt({ name: "resume" });
found.status = await client.readResource({ uri: "ragforge://status" });
console.log(JSON.stringify(found));
await client.close();
