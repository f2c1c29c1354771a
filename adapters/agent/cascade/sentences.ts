import { hasWords } from "../../../src/base/has-words.ts";

/** The end of a sentence, with closing quotation marks; a number such as 10.30 does not end one. */
const SENTENCE_END = /[.!?…]+["'”’)\]]*(?=\s)|[。！？]+|\n+/u;
/** Places at which a long first sentence may be cut, so that its start is spoken soon. */
const CLAUSE_END = /[,;:–—](?=\s)/u;
/** Shortest start that is spoken separately, characters. */
const MIN_BEGINNING = 20;
/** Titles and other abbreviations, whose full stop does not end a sentence. */
const ABBREVIATION = /(?:^|\s)(?:dr|dra|mr|mrs|ms|sr|sra|st|no|nr|e\.g|i\.e|z\.b)\.$/iu;
/** A text without an end is spoken in pieces of this length, characters. */
const MAX_LENGTH = 300;

/** Cuts a text that arrives piece by piece into sentences; its first piece is a clause, so that it is spoken soon. */
export class Sentences {
  #open = "";
  #begun = false;

  /** Adds text; returns the sentences that are complete now. */
  push(text: string): string[] {
    this.#open += text;
    const complete: string[] = [];
    for (let sentence = this.#next(); sentence !== undefined; sentence = this.#next())
      if (hasWords(sentence)) {
        complete.push(sentence);
        this.#begun = true;
      }
    return complete;
  }

  /** Ends the text and returns the rest of it; undefined if the rest has no words. */
  finish(): string | undefined {
    const rest = this.#open.trim();
    this.#open = "";
    return hasWords(rest) ? rest : undefined;
  }

  #next(): string | undefined {
    for (let from = 0; ; ) {
      const match = SENTENCE_END.exec(this.#open.slice(from));
      if (match === null) break;
      const end = from + match.index + match[0].length;
      if (!ABBREVIATION.test(this.#open.slice(0, end))) return this.#cut(end);
      from = end;
    }
    if (!this.#begun) {
      const clause = CLAUSE_END.exec(this.#open.slice(MIN_BEGINNING));
      if (clause !== null) return this.#cut(MIN_BEGINNING + clause.index + 1);
    }
    if (this.#open.length <= MAX_LENGTH) return undefined;
    const space = this.#open.lastIndexOf(" ", MAX_LENGTH);
    return this.#cut(space > 0 ? space : MAX_LENGTH);
  }

  #cut(end: number): string {
    const sentence = this.#open.slice(0, end).trim();
    this.#open = this.#open.slice(end).trimStart();
    return sentence;
  }
}
