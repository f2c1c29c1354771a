import { hasWords } from "../../../src/base/has-words.ts";

/** The end of a sentence, with closing quotation marks; a number such as 10.30 does not end one. */
const SENTENCE_END = /[.!?…]+["'”’)\]]*(?=\s)|[。！？]+|\n+/u;
/** Places at which a long first sentence may be cut, so that its start is spoken soon. */
const CLAUSE_END = /[,;:–—](?=\s)/u;
/** Minimum length of a clause that is spoken separately, characters. */
const MIN_CLAUSE_LENGTH = 20;
/** Titles and other abbreviations, whose full stop does not end a sentence. */
const ABBREVIATION = /(?:^|\s)(?:dr|dra|mr|mrs|ms|sr|sra|st|no|nr|e\.g|i\.e|z\.b)\.$/iu;
/** Maximum length of a piece of text without a sentence end, characters. */
const MAX_LENGTH = 300;

/** Cuts text that arrives piece by piece into sentences; the first piece is a clause, so that it is spoken soon. */
export class Sentences {
  #buffer = "";
  #hasBegun = false;

  /** Adds text; returns the sentences that it completes. */
  push(text: string): string[] {
    this.#buffer += text;
    const sentences: string[] = [];
    for (let sentence = this.#nextSentence(); sentence !== undefined; sentence = this.#nextSentence())
      if (hasWords(sentence)) {
        sentences.push(sentence);
        this.#hasBegun = true;
      }
    return sentences;
  }

  /** Ends the text and returns the remainder; undefined if it has no words. */
  finish(): string | undefined {
    const remainder = this.#buffer.trim();
    this.#buffer = "";
    return hasWords(remainder) ? remainder : undefined;
  }

  #nextSentence(): string | undefined {
    for (let start = 0; ; ) {
      const match = SENTENCE_END.exec(this.#buffer.slice(start));
      if (match === null) break;
      const end = start + match.index + match[0].length;
      if (!ABBREVIATION.test(this.#buffer.slice(0, end))) return this.#cut(end);
      start = end;
    }
    if (!this.#hasBegun) {
      const clause = CLAUSE_END.exec(this.#buffer.slice(MIN_CLAUSE_LENGTH));
      if (clause !== null) return this.#cut(MIN_CLAUSE_LENGTH + clause.index + 1);
    }
    if (this.#buffer.length <= MAX_LENGTH) return undefined;
    const space = this.#buffer.lastIndexOf(" ", MAX_LENGTH);
    return this.#cut(space > 0 ? space : MAX_LENGTH);
  }

  #cut(end: number): string {
    const sentence = this.#buffer.slice(0, end).trim();
    this.#buffer = this.#buffer.slice(end).trimStart();
    return sentence;
  }
}
