import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/call.ts";
import pt from "../../dictionary/pt/call.ts";

/** The texts of the page of a call. */
export const t = dictionary({ en, pt });
