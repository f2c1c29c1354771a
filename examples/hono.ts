#!/usr/bin/env node
// Ringport inside a Hono app: a framework with WHATWG requests needs only `ringport.fetch`.
//
//   Start   npm install hono @hono/node-server && node hono.ts
//   Token   npx ringport token create --user me
//   Call    RINGPORT_URL=http://127.0.0.1:3000/voice RINGPORT_TOKEN=rp_live_… node polling-client.ts
import process from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createRingport } from "ringport";

const port = Number(process.env.PORT ?? 3000);
const ringport = createRingport({ basePath: "/voice", publicUrl: `http://127.0.0.1:${port}/voice` });
await ringport.start();

const app = new Hono();
app.get("/", (context) => context.text("My own app, with calls below /voice/v1"));
app.all("/voice/*", (context) => ringport.fetch(context.req.raw));

serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () => console.log(`listening on http://127.0.0.1:${port}`));
