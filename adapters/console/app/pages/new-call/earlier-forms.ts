import type { CallWith } from "../../../../../src/client/index.ts";
import { type CallForm, EMPTY_FORM } from "./call-form.ts";

/** Maximum number of saved forms; their audio files may be large. */
const MAX_FORMS = 20;

/** The forms of the calls that this tab has placed, by call id: the server does not return texts and files. */
const forms = new Map<string, CallForm>();

/** Saves the form of a call for "call again", until the tab is closed. */
export function saveForm(callId: string, form: CallForm): void {
  forms.set(callId, form);
  const [oldest] = forms.keys();
  if (forms.size > MAX_FORMS && oldest !== undefined) forms.delete(oldest);
}

/** The form of a call that this tab has placed. */
export function savedForm(callId: string): CallForm | undefined {
  return forms.get(callId);
}

/** A form filled in from a call on the server. */
export function formOfCall(call: CallWith<"reference" | "media">): CallForm {
  const { type, instance_id, target_phone, from, reference, metadata, media } = call;
  const hasMetadata = metadata && Object.keys(metadata).length > 0;
  return {
    ...EMPTY_FORM,
    type,
    instanceId: instance_id,
    phoneNumber: target_phone,
    voiceId: media && "voice_id" in media ? media.voice_id : "",
    fromNumber: from?.phoneNumber ?? "",
    fromName: from?.displayName ?? "",
    withheld: from?.withheld ?? false,
    recording: media?.recording !== undefined,
    reference: reference ?? "",
    metadata: hasMetadata ? JSON.stringify(metadata, null, 2) : "",
  };
}
