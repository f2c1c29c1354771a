import { describe, expect, it } from "vitest";
import { EMPTY_FORM } from "../../../adapters/console/app/pages/new-call/call-form.ts";
import { formOfCall, savedForm, saveForm } from "../../../adapters/console/app/pages/new-call/earlier-forms.ts";

const CALL = {
  id: "call_1",
  instance_id: "inst_1",
  type: "FIXED_TTS",
  status: "COMPLETED",
  target_phone: "+12025550100",
  created_at: "2026-11-27T10:00:00.000Z",
  started_at: null,
  ended_at: null,
  from: { displayName: "Acme", withheld: true },
  reference: "order-7",
  metadata: { order: 7 },
  media: { voice_id: "en-US-1", characters: 5, stream: null, recording: null },
} as const;

describe("a call placed again", () => {
  it("has the fields that the server returns", () => {
    expect(formOfCall({ ...CALL, metadata: { ...CALL.metadata } })).toEqual({
      ...EMPTY_FORM,
      instanceId: "inst_1",
      phoneNumber: "+12025550100",
      voiceId: "en-US-1",
      fromName: "Acme",
      withheld: true,
      recording: true,
      reference: "order-7",
      metadata: '{\n  "order": 7\n}',
    });
  });

  it("without options has an empty form except for instance and number", () => {
    const { from: _, ...callWithoutFrom } = CALL;
    const call = { ...callWithoutFrom, type: "DYNAMIC_STREAM", media: null, reference: null, metadata: {} } as const;
    const expected = { ...EMPTY_FORM, type: "DYNAMIC_STREAM", instanceId: "inst_1", phoneNumber: "+12025550100" };
    expect(formOfCall(call)).toEqual(expected);
  });

  it("has the complete form in the tab that placed it, for twenty calls", () => {
    for (let n = 0; n < 21; n++) saveForm(`call_${n}`, { ...EMPTY_FORM, text: `text ${n}` });
    expect(savedForm("call_0")).toBeUndefined();
    expect(savedForm("call_20")?.text).toBe("text 20");
  });
});
