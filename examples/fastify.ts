#!/usr/bin/env node
// Ringport inside a Fastify app, next to the app's own routes.
//
//   Start   npm install fastify && node fastify.ts
//   Token   npx ringport token create --user me
//   Call    RINGPORT_URL=http://127.0.0.1:3000/voice RINGPORT_TOKEN=rp_live_… node polling-client.ts
import process from "node:process";
import fastify from "fastify";
import { createRingport } from "ringport";
import { attachUpgrade, handler } from "ringport/node";

const ringport = createRingport({ basePath: "/voice" });
await ringport.start();
const respond = handler(ringport);

const app = fastify();
app.get("/", async () => "My own app, with calls below /voice/v1");
await app.register(async (voice) => {
  // Ringport reads bodies itself, so that its errors can name the limit that was exceeded.
  voice.removeAllContentTypeParsers();
  voice.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
  voice.all("/voice/*", (request, reply) => {
    reply.hijack();
    return respond(request.raw, reply.raw);
  });
});

attachUpgrade(app.server, ringport, { prefix: "/voice/" }); // audio streams are WebSockets
console.log(`listening on ${await app.listen({ port: Number(process.env.PORT ?? 3000) })}`);
