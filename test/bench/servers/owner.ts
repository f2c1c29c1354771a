import process from "node:process";
import { createRingport, realSystem } from "../../../src/index.ts";
import { ScriptedTelephony } from "../../../src/testing/scripted-telephony.ts";
import { messageOf } from "../../rounds/messages.ts";

// A Ringport on the database in its arguments that tells its parent what its network is asked for: `running` when it owns
// the database, then `dialled` and `hung up`. Told to `fill`, it makes an instance with a live call and one that waits.

const ME = { userId: "usr_bench" };
const [databaseUrl, leaseMs] = process.argv.slice(2);
const audioBase64 = messageOf(30_000); // before there is a lease to renew
const network = new ScriptedTelephony(realSystem, { capabilities: { linking: "operator" } });
network.onDial = (leg) => {
  const { hangUp } = leg;
  leg.hangUp = () => {
    process.send?.("hung up");
    return hangUp.call(leg);
  };
  setTimeout(() => {
    leg.placed();
    leg.answer();
    process.send?.("dialled");
  }, 0);
};
const ringport = createRingport({
  databaseUrl,
  leaseMs: Number(leaseMs),
  leaseRenewMs: Number(leaseMs) / 5,
  telephony: network,
  secret: "00".repeat(32),
  queue: { kind: "fifo", depth: 5 },
});

async function fill(): Promise<void> {
  const { id: instanceId } = await ringport.instances.create(ME, { name: "Desk" });
  for (let calls = 0; calls < 2; calls++)
    await ringport.calls.create(ME, {
      instanceId,
      type: "FIXED_AUDIO",
      target: { phoneNumber: "+12025550100" },
      audio: { audioBase64 },
    });
}

process.on("message", (message) => {
  if (message === "fill") void fill();
  if (message === "stop") void ringport.stop({ drainMs: 0 }).then(() => process.exit(0));
});
await ringport.start();
process.send?.("running");
