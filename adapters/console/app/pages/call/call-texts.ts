import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/call.ts";
import pt from "../../dictionary/pt/call.ts";

/** The texts of a call's page. */
export const t = dictionary({ en, pt });
