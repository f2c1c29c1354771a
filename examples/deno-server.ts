#!/usr/bin/env -S deno run --allow-net=127.0.0.1 --allow-read=. --allow-write=data --allow-env=PORT
// A Ringport server on Deno with only the permissions it needs: listen on this machine, read this folder, write
// into its data folder, read one variable.
//
//   Start   deno run --allow-net=127.0.0.1 --allow-read=. --allow-write=data --allow-env=PORT deno-server.ts
//   Call    RINGPORT_TOKEN=rp_live_… deno run -N -E -R polling-client.ts
import { createRingport } from "ringport";
import { serve } from "ringport/deno";

const ringport = createRingport({ data: "./data" });
const server = await serve(ringport, { port: Number(Deno.env.get("PORT") ?? 8080) });

console.log(`Ringport is listening on ${server.url}; documentation: ${server.url}/docs`);
// Printed only on a terminal: piped output ends up in logs.
const first = Deno.stdout.isTerminal() && (await ringport.tokens.first({ userName: "me", label: "first start" }));
if (first) console.log(`Your token, shown this one time only: ${first.token}`);
else console.log("A token: npx ringport token create --user me");

for (const signal of ["SIGINT", "SIGTERM"] as const)
  Deno.addSignalListener(signal, async () => {
    await ringport.stop(); // live calls may continue for ten seconds
    await server.close();
    Deno.exit();
  });
