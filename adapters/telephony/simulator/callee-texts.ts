/** The number plan's sentences in Portuguese and Spanish. */
const TRANSLATIONS: ReadonlyMap<string, Readonly<Record<"pt" | "es", string>>> = new Map(
  Object.entries({
    "Hello, nobody is here. Please leave your message after the tone.": {
      pt: "Olá, não há ninguém aqui. Deixe sua mensagem após o sinal.",
      es: "Hola, no hay nadie aquí. Deje su mensaje después de la señal.",
    },
    "You have reached the voicemail of the simulated phone. Nobody can take your call at the moment. Please leave your name, your number and your message, and somebody will call you back.":
      {
        pt: "Esta é a caixa postal do telefone simulado. Ninguém pode atender agora. Deixe seu nome, seu número e sua mensagem, e alguém ligará de volta.",
        es: "Este es el buzón de voz del teléfono simulado. Nadie puede atender ahora. Deje su nombre, su número y su mensaje, y alguien le devolverá la llamada.",
      },
    "Hello, this is the simulated phone speaking.": {
      pt: "Olá, aqui fala o telefone simulado.",
      es: "Hola, aquí habla el teléfono simulado.",
    },
    "Hello?": { pt: "Alô?", es: "¿Hola?" },
    "Uh-huh.": { pt: "Uhum.", es: "Ajá." },
    "Please wait a moment.": { pt: "Espere um momento, por favor.", es: "Espere un momento, por favor." },
    "Yes, that is right.": { pt: "Sim, está certo.", es: "Sí, así es." },
    "On Monday, please.": { pt: "Na segunda-feira, por favor.", es: "El lunes, por favor." },
    "We are two people.": { pt: "Somos duas pessoas.", es: "Somos dos personas." },
    "Thank you, goodbye.": { pt: "Obrigado, tchau.", es: "Gracias, adiós." },
  }),
);

/**
 * A number-plan sentence in a voice's language, or in English if there is no translation.
 * @param language BCP 47 tag: `pt-BR`
 */
export function calleeText(text: string, language: string): string {
  const translations = TRANSLATIONS.get(text);
  if (language.startsWith("pt-")) return translations?.pt ?? text;
  if (language.startsWith("es-")) return translations?.es ?? text;
  return text;
}
