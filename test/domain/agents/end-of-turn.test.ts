import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { END_OF_TURN_MS, endOfTurnMs, MAX_PAUSE_MS } from "../../../src/domain/agents/end-of-turn.ts";

const USUAL_MS = END_OF_TURN_MS;
const LONGER_MS = 1_500;
const MAX_MS = MAX_PAUSE_MS;

describe("the silence that ends a turn", () => {
  test.for([
    ["en-US", "Yes", USUAL_MS],
    ["en-US", "Tomorrow at ten works for me.", USUAL_MS],
    ["en-US", "When is it?", USUAL_MS],
    ["en-US", "What are you waiting for?", USUAL_MS],
    ["en-US", "I would like to come tomorrow", USUAL_MS],
    ["en-US", "two", USUAL_MS],
    ["en-US", "at ten thirty", USUAL_MS],
    ["en-US", "I would like to come and", LONGER_MS],
    ["en-US", "Well,", LONGER_MS],
    ["en-US", "I was thinking...", LONGER_MS],
    ["en-US", "um", LONGER_MS],
    ["en-US", "The appointment is", LONGER_MS],
    ["en-US", "five five two", LONGER_MS],
    ["en-US", "It is 55 21", LONGER_MS],
    ["en-US", "My number is", MAX_MS],
    ["en-US", "Sure, my phone number is.", MAX_MS],
    ["en-GB", "the code for the door is", MAX_MS],
    ["pt-BR", "sim", USUAL_MS],
    ["pt-BR", "Não", USUAL_MS],
    ["pt-BR", "Pode ser amanhã às dez.", USUAL_MS],
    ["pt-BR", "eu queria marcar para", LONGER_MS],
    ["pt-BR", "Eu posso, mas", LONGER_MS],
    ["pt-BR", "nove meia", LONGER_MS],
    ["pt-BR", "Meu CPF é", MAX_MS],
    ["pt-BR", "O número do meu telefone é", MAX_MS],
    ["es-ES", "no", USUAL_MS],
    ["es-ES", "¿A qué hora?", USUAL_MS],
    ["es-ES", "quiero ir pero", LONGER_MS],
    ["es-MX", "Mi número es", MAX_MS],
    ["de-DE", "Ja", USUAL_MS],
    ["de-DE", "Das passt mir gut.", USUAL_MS],
    ["de-DE", "ich komme morgen und", LONGER_MS],
    ["de-DE", "ähm", LONGER_MS],
    ["de-DE", "Meine Kundennummer lautet", MAX_MS],
    ["fr-FR", "Oui", USUAL_MS],
    ["fr-FR", "Demain, c'est parfait.", USUAL_MS],
    ["fr-FR", "je voudrais venir mais", LONGER_MS],
    ["fr-FR", "mon numéro de téléphone est", MAX_MS],
    ["it-IT", "sì", USUAL_MS],
    ["it-IT", "vorrei venire però forse domani e", LONGER_MS],
    ["it-IT", "Il mio indirizzo è", MAX_MS],
    ["ja-JP", "はい。", USUAL_MS],
    ["fi-FI", "Minä tulen,", LONGER_MS],
    ["fi-FI", "the", USUAL_MS],
    ["en-US", "", USUAL_MS],
    ["en-US", " … ", USUAL_MS],
  ] as const)('%s "%s": %s ms', ([language, text, ms]) => {
    expect(endOfTurnMs(text, language)).toBe(ms);
  });

  test.each(["__proto__", "constructor", "toString"])("uses no word list for the language %s", (language) => {
    expect(endOfTurnMs("and", language)).toBe(USUAL_MS);
  });

  test("is between the usual and the maximum wait for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string(), (text, language) => {
        const ms = endOfTurnMs(text, language);
        expect(ms).toBeGreaterThanOrEqual(USUAL_MS);
        expect(ms).toBeLessThanOrEqual(MAX_MS);
      }),
    );
  });
});
