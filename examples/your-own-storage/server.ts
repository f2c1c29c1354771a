#!/usr/bin/env bun
// A custom storage behind Ringport's storage port. This one keeps everything in memory; a real one does the same
// with a database. What the port promises is in `contract.test.ts`, ready to be run against yours.
//
//   Start   bun your-own-storage/server.ts
//   Test    bun test your-own-storage
//   Call    RINGPORT_TOKEN=rp_live_… bun polling-client.ts
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/bun";
import { memoryStorage } from "./memory-storage.ts";

const ringport = createRingport({ storage: memoryStorage() });
const { url } = await serve(ringport, { port: Number(process.env.PORT ?? 8080) });

const { token } = await ringport.tokens.issue({ userName: "me", label: "this process" });
console.log(`Ringport is listening on ${url}; your token, until it stops: ${token}`);
