#!/usr/bin/env node
// WhatsApp: calls from a number that its owner links by scanning a QR code. Read docs/whatsapp.md first: this is not an
// official interface. With `--simulated`, a scripted WhatsApp takes the place of the real one, and this terminal is the
// phone: no packages, no number.
//
//   Try it  node whatsapp/server.ts --simulated
//   Start   node whatsapp/server.ts, once the packages of docs/whatsapp.md, "Install", are installed
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/node";
import { whatsapp } from "ringport/whatsapp";

const { PORT = 8080 } = process.env;
const { client } = process.argv.includes("--simulated") ? await import("./simulated.ts") : await import("./zapo.ts");

const log = { ...console, debug() {}, info() {} }; // `console` also prints each request and each step of a session
const ringport = createRingport({ telephony: whatsapp({ client, logger: log }), data: "./data", log });
const { url, close } = await serve(ringport, { port: Number(PORT) });
console.log(`Ringport is listening on ${url}`);
// Printed only on a terminal: piped output ends up in logs.
const first = process.stdout.isTTY && (await ringport.tokens.first({ userName: "me", label: "first start" }));
if (first) console.log(`Your token, shown this one time only: ${first.token}`);
else console.log("A token: npx ringport token create --user me");

process.once("SIGINT", async () => {
  await ringport.stop(); // live calls may continue for ten seconds; the number stays linked
  await close();
  process.stdin.pause();
});
