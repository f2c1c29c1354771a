#!/usr/bin/env node
// Ringport inside an Express app, next to the app's own routes.
//
//   Start   npm install express && node express.ts
//   Token   npx ringport token create --user me
//   Call    RINGPORT_URL=http://127.0.0.1:3000/voice RINGPORT_TOKEN=rp_live_… node polling-client.ts
import process from "node:process";
import express from "express";
import { createRingport } from "ringport";
import { attachUpgrade, handler } from "ringport/node";

const port = Number(process.env.PORT ?? 3000);
const ringport = createRingport({ basePath: "/voice" });
await ringport.start();

const app = express();
app.get("/", (_request, response) => void response.send("My own app, with calls below /voice/v1"));
app.use(handler(ringport)); // requests outside /voice continue to the next routes

const server = app.listen(port, "127.0.0.1");
attachUpgrade(server, ringport, { prefix: "/voice/" }); // audio streams are WebSockets
server.once("listening", () => console.log(`listening on http://127.0.0.1:${port}`));
