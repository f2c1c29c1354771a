const TOKEN = /^[-A-Za-z0-9.!%*_+`'~]+$/;

/** Whether the text is a token (RFC 3261 section 25.1): what names of methods, fields and parameters are made of. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}
