import type { Texts } from "../dictionary.ts";
import type en from "../en/voices.ts";

export default {
  label: "Voz",
  hint: "Vozes naturais soam como pessoas; as robóticas falam mais idiomas.",
  language: "Idioma da voz",
  search: "Buscar idiomas",
  noMatch: (query: string) => `Nenhum idioma corresponde a "${query}".`,
  preferred: "Os seus idiomas",
  others: "Mais idiomas",
  voices: (language: string) => `Vozes para ${language}`,
  noVoices: "Nenhuma voz está instalada neste servidor. Com ringport doctor, quem o opera descobre o que instalar.",
  only: "Nenhuma outra voz deste servidor fala este idioma, exceto variantes.",
  byLanguage: "A voz do idioma",
  best: "Melhor voz deste servidor",
  unlisted: "não está nesta lista",
  natural: "natural",
  robotic: "robótica",
  female: "feminina",
  male: "masculina",
  listen: (voice: string) => `Ouvir ${voice}`,
  loading: (voice: string) => `Carregando a amostra de ${voice}`,
  stop: (voice: string) => `Parar a amostra de ${voice}`,
  failed: "Não foi possível reproduzir a amostra",
  keys: "As setas escolhem, Enter reproduz",
  variants: "Mostrar variantes",
} satisfies Texts<typeof en>;
