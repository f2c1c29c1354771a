import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { createThreadEngine } from "../../../../adapters/telephony/sip/media/thread-engine.ts";
import { LOOPBACK, settingsTo, until } from "./two-ends.ts";

for (const frames of [1, 3])
  test(`a deadline that passes while frame ${frames} is read keeps its packet back`, async () => {
    const socket = createSocket("udp4").bind(0, LOOPBACK);
    onTestFinished(() => void socket.close());
    await once(socket, "listening");
    const received: ("RTP" | "RTCP")[] = [];
    socket.on("message", (bytes) => void received.push(bytes[1]! >= 200 && bytes[1]! <= 204 ? "RTCP" : "RTP"));
    const engine = createThreadEngine();
    onTestFinished(() => engine.close());
    const deadlines = { send: Infinity };
    const session = await engine.open(
      { address: LOOPBACK, ports: [20_000, 29_999], sampleRate: 8_000, lossMs: 20_000 },
      { sending() {}, receiving() {}, digit() {}, lost() {} },
      deadlines,
    );
    let read = 0;
    const source = {
      read(frame: Int16Array): number {
        if (++read === frames) deadlines.send = -Infinity;
        return frame.fill(1_000).length;
      },
    };
    session.connect(source, { write() {} });
    session.configure(settingsTo(socket.address().port));
    session.start();
    await until(() => read === frames, "the frames are read");
    await session.close();
    await until(() => received.includes("RTCP"), "the goodbye");
    expect(received.filter((kind) => kind === "RTP").length).toBe(frames - 1);
  });
