import { PHONE_NUMBER } from "../../domain/numbers/phone-number.ts";
import type { AudioAgentEvent, AudioFormat } from "../../ports/audio-conversation.ts";

/** Maximum length of a text that speech engines accept, characters. */
const MAX_TEXT = 4_096;

/** Fault of an event that follows others; undefined if there is none. */
export function eventFault(
  event: AudioAgentEvent,
  earlierEvents: readonly AudioAgentEvent[],
  format: AudioFormat,
): string | undefined {
  switch (event.type) {
    case "audio":
      if (event.bytes.length === 0) return "a piece of audio is empty";
      return hasEnded(event.item, earlierEvents) ? `audio of ${event.item} follows its item_end` : undefined;
    case "item_end":
      if (hasEnded(event.item, earlierEvents)) return `${event.item} ends twice`;
      return format === "pcm" && lengthOf(event.item, earlierEvents) % 2 === 1
        ? `${event.item} ends within a sample`
        : undefined;
    case "press":
      return /^[0-9*#A-D]+$/.test(event.keys) ? undefined : `it presses ${event.keys}`;
    case "transfer":
      return PHONE_NUMBER.test(event.to) ? undefined : `it transfers to ${event.to}, which is not an E.164 number`;
    case "listen":
      return event.forMs > 0 ? undefined : `it listens for ${event.forMs} ms`;
    case "say":
      return event.text.trim() === "" || event.text.length > MAX_TEXT
        ? `it speaks a text of ${event.text.length} characters`
        : undefined;
    case "fail":
    case "fault":
      return event.detail === "" ? `${event.type} has no reason` : undefined;
    default:
      return undefined;
  }
}

function hasEnded(item: string, earlierEvents: readonly AudioAgentEvent[]): boolean {
  return earlierEvents.some((event) => event.type === "item_end" && event.item === item);
}

function lengthOf(item: string, earlierEvents: readonly AudioAgentEvent[]): number {
  return earlierEvents.reduce(
    (sum, event) => (event.type === "audio" && event.item === item ? sum + event.bytes.length : sum),
    0,
  );
}
