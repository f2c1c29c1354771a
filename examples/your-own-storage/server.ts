#!/usr/bin/env bun
// A database of your own: Ringport's tables in PGlite, a PostgreSQL that runs in this process, through its Kysely
// dialect.
//
//   Install  npm install --no-save @electric-sql/pglite@0.5.17 kysely@0.29.9
//   Start    bun your-own-storage/server.ts
//   Test     bun test your-own-storage
//   Call     RINGPORT_TOKEN=rp_live_… bun polling-client.ts
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/bun";
import { pgliteStorage } from "./pglite-storage.ts";

const ringport = createRingport({ storage: pgliteStorage("./data/pglite") });
const { url } = await serve(ringport, { port: Number(process.env.PORT ?? 8080) });

const { token } = await ringport.tokens.issue({ userName: "me", label: "this process" });
console.log(`Ringport is listening on ${url}; your token: ${token}`);
