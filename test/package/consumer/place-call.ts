// First program after an installation: reads the message from message.json, and writes the heard audio to heard.wav.
import { readFile, writeFile } from "node:fs/promises";
import { createRingport } from "ringport";

const message = JSON.parse(await readFile("message.json", "utf8"));

const ringport = createRingport();
const { userId, token } = await ringport.tokens.issue({ userName: "ana", label: "my app" });
const me = { userId };
const { id: instanceId } = await ringport.instances.create(me, { name: "My phone" });
await ringport.fetch(new Request((await ringport.instances.configure(me, instanceId)).payload, { method: "POST" }));
const { id } = await ringport.calls.create(me, { instanceId, target: { phoneNumber: "+12025550100" }, ...message });
const { status, outcome } = await ringport.calls.wait(me, id);

const headers = { authorization: `Bearer ${token}` };
const recording = await ringport.fetch(new Request(`http://localhost/simulator/calls/${id}/heard.wav`, { headers }));
await writeFile("heard.wav", new Uint8Array(await recording.arrayBuffer()));
console.log(JSON.stringify({ status, reason: outcome?.reason, heardRatio: outcome?.heardRatio }));
await ringport.stop();
