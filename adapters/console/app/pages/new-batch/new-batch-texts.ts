import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-batch.ts";
import pt from "../../dictionary/pt/new-batch.ts";

/** The texts about a new batch and its plan. */
export const newBatchTexts = dictionary({ en, pt });
