/** The form of a voice id: a language-region tag and a number, such as `pt-BR-1`. */
export const VOICE_ID = /^[a-z]{2,3}-([A-Z]{2}|[0-9]{3})-[1-9][0-9]?$/;
