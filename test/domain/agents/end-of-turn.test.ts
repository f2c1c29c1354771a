import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { END_OF_TURN_MS, endOfTurnMs, MAX_PAUSE_MS } from "../../../src/domain/agents/end-of-turn.ts";

const USUAL = END_OF_TURN_MS;
const LONGER = 1_500;
const LONGEST = MAX_PAUSE_MS;

describe("the silence that ends a turn", () => {
  test.for([
    ["en-US", "Yes", USUAL],
    ["en-US", "Tomorrow at ten works for me.", USUAL],
    ["en-US", "When is it?", USUAL],
    ["en-US", "What are you waiting for?", USUAL],
    ["en-US", "I would like to come tomorrow", USUAL],
    ["en-US", "two", USUAL],
    ["en-US", "at ten thirty", USUAL],
    ["en-US", "I would like to come and", LONGER],
    ["en-US", "Well,", LONGER],
    ["en-US", "I was thinking...", LONGER],
    ["en-US", "um", LONGER],
    ["en-US", "The appointment is", LONGER],
    ["en-US", "five five two", LONGER],
    ["en-US", "It is 55 21", LONGER],
    ["en-US", "My number is", LONGEST],
    ["en-US", "Sure, my phone number is.", LONGEST],
    ["en-GB", "the code for the door is", LONGEST],
    ["pt-BR", "sim", USUAL],
    ["pt-BR", "Não", USUAL],
    ["pt-BR", "Pode ser amanhã às dez.", USUAL],
    ["pt-BR", "eu queria marcar para", LONGER],
    ["pt-BR", "Eu posso, mas", LONGER],
    ["pt-BR", "nove meia", LONGER],
    ["pt-BR", "Meu CPF é", LONGEST],
    ["pt-BR", "O número do meu telefone é", LONGEST],
    ["es-ES", "no", USUAL],
    ["es-ES", "¿A qué hora?", USUAL],
    ["es-ES", "quiero ir pero", LONGER],
    ["es-MX", "Mi número es", LONGEST],
    ["de-DE", "Ja", USUAL],
    ["de-DE", "Das passt mir gut.", USUAL],
    ["de-DE", "ich komme morgen und", LONGER],
    ["de-DE", "ähm", LONGER],
    ["de-DE", "Meine Kundennummer lautet", LONGEST],
    ["fr-FR", "Oui", USUAL],
    ["fr-FR", "Demain, c'est parfait.", USUAL],
    ["fr-FR", "je voudrais venir mais", LONGER],
    ["fr-FR", "mon numéro de téléphone est", LONGEST],
    ["it-IT", "sì", USUAL],
    ["it-IT", "vorrei venire però forse domani e", LONGER],
    ["it-IT", "Il mio indirizzo è", LONGEST],
    ["ja-JP", "はい。", USUAL],
    ["fi-FI", "Minä tulen,", LONGER],
    ["fi-FI", "the", USUAL],
    ["en-US", "", USUAL],
    ["en-US", " … ", USUAL],
  ] as const)('%s "%s": %s ms', ([language, text, ms]) => {
    expect(endOfTurnMs(text, language)).toBe(ms);
  });

  test.each(["__proto__", "constructor", "toString"])("has no words of the language %s", (language) => {
    expect(endOfTurnMs("and", language)).toBe(USUAL);
  });

  test("is between the usual and the maximum wait for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string(), (text, language) => {
        const ms = endOfTurnMs(text, language);
        expect(ms).toBeGreaterThanOrEqual(USUAL);
        expect(ms).toBeLessThanOrEqual(LONGEST);
      }),
    );
  });
});
