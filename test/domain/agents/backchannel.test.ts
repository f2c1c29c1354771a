import { expect, test } from "vitest";
import { isBackchannel } from "../../../src/domain/agents/end-of-turn.ts";

test.for([
  ...["Uh-huh.", "Mm-hmm", "uhum", "Uhum, uhum.", "I see.", "Right."],
  ...["Ahã", "Pois é…", "entendi", "ah tá"],
  ...["ajá", "Ya, ya.", "Ach so!", "Ja, ja.", "Ah bon ?", "Je vois.", "Capisco."],
])('"%s" is a sign of listening', (text) => {
  expect(isBackchannel(text)).toBe(true);
});

test.for([
  ...["Yes.", "no", "okay", "Sim", "não", "sí", "ja", "oui", "sì"],
  ...["Wait", "Uh, wait a moment", "one", "", "I see it", "mm mm mm mm mm"],
])('"%s" is not a sign of listening', (text) => {
  expect(isBackchannel(text)).toBe(false);
});
