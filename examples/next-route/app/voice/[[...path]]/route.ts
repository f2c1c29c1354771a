// Ringport inside a Next app, as one route handler; HTTP only, since Next's handlers take no WebSockets.
//
//   Start   npm install ringport next react react-dom && npx next dev
//   Token   npx ringport token create --user me
//   Call    RINGPORT_URL=http://localhost:3000/voice RINGPORT_TOKEN=rp_live_… node polling-client.ts
import process from "node:process";
import { createRingport, type Ringport } from "ringport";

const publicUrl = process.env.RINGPORT_PUBLIC_URL ?? "http://localhost:3000/voice"; // the base of QR code links

// One per process: the dev server loads this file again after each change.
const shared = globalThis as { ringport?: Ringport };
shared.ringport ??= createRingport({ basePath: "/voice", publicUrl });

const respond = shared.ringport.fetch;

export { respond as DELETE, respond as GET, respond as HEAD, respond as OPTIONS, respond as PATCH, respond as POST };
