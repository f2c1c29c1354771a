import { describe, expect, test } from "vitest";
import { MediaWatch } from "../../../adapters/sip-stack/media/media-watch.ts";

/** An answered call whose peer must send, and is lost after 1 s. */
function answeredWatch(): MediaWatch {
  const watch = new MediaWatch(1_000);
  watch.recordRenegotiation("sendrecv", 0);
  watch.start(0);
  return watch;
}

describe("a packet after the answer", () => {
  test("from the peer is evidence of life", () => {
    const watch = answeredWatch();
    watch.recordRtp(900, true, "peer");
    expect(watch.evidence).toEqual({ kind: "inbound", fromOtherHost: false, expected: true });
    expect(watch.silenceReport(1_800)).toBeUndefined();
    expect(watch.silenceReport(1_900)).toMatch(/^no audio came from the peer for 1 s/);
  });

  test("from the source that our audio follows is a sign of life, but not evidence", () => {
    const watch = answeredWatch();
    watch.recordRtp(900, true, "followed");
    watch.recordRtcp(false, false, 950, "followed");
    expect(watch.evidence).toEqual({ kind: "none", fromOtherHost: true, expected: true });
    expect(watch.takeEvidence()).toBe(false);
    expect(watch.silenceReport(1_900)).toBeUndefined();
    expect(watch.silenceReport(1_950)).toMatch(/^no audio came from the peer for 1 s/);
  });

  test("from another host is neither", () => {
    const watch = answeredWatch();
    watch.recordRtp(900, true, "other");
    watch.recordRtcp(false, true, 950, "other");
    expect(watch.evidence).toEqual({ kind: "none", fromOtherHost: true, expected: true });
    expect(watch.silenceReport(1_000)).toBe("audio came only from hosts other than the peer's for 1 s (mediaLossMs)");
  });
});
