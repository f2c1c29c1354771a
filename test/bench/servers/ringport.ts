// A real Ringport server on the runtime that runs this file. Arguments: its data folder.
import process from "node:process";
import { serverAdapter } from "../../../adapters/cli/serve/server-adapter.ts";
import { createRingport } from "../../../src/index.ts";

const ringport = createRingport({ data: process.argv[2] ?? "" });
const { serve } = await serverAdapter();
const { url } = await serve(ringport, { port: 0 });
await ringport.start();
process.once("SIGTERM", () => process.exit());
console.log(url);
