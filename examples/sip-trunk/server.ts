#!/usr/bin/env node
// Real phones: a server whose calls go over a SIP trunk. The trunks are in `trunks.json`, in the format of docs/sip.md; the one
// here leads to a softphone on this computer, which `pair/start.sh` starts (baresip, kamailio and sox must be installed).
//
//   Start   sh sip-trunk/pair/start.sh && node sip-trunk/server.ts
//   Call    curl -s http://127.0.0.1:8080/v1/instances -H "Authorization: Bearer rp_live_…" -d '{"name":"Trunk"}' -H "Content-Type: application/json"
import { readFileSync } from "node:fs";
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/node";
import { faultText, parseTrunks, sip } from "ringport/sip";

const { PORT = 8080, TRUNKS = new URL("pair/trunks.json", import.meta.url) } = process.env;
const { trunks, routes, faults } = parseTrunks(JSON.parse(readFileSync(TRUNKS, "utf8")));
if (!trunks) throw new Error(faults.map(faultText).join("\n"));

// By default only the first user may call over a trunk; this creates their token.
const ringport = createRingport({ telephony: sip({ trunks, routes }), data: "./data" });
const { url, close } = await serve(ringport, { port: Number(PORT) });
console.log(`Ringport is listening on ${url}`);
// Printed only on a terminal: piped output ends up in logs.
const first = process.stdout.isTTY && (await ringport.tokens.first({ userName: "me", label: "first start" }));
if (first) console.log(`Your token, shown this one time only: ${first.token}`);
else console.log("A token: npx ringport token create --user me");

process.once("SIGINT", async () => {
  await ringport.stop(); // live calls may continue for ten seconds; then the trunks unregister
  await close();
});
