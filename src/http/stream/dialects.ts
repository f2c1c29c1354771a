/** The protocols of a stream with their decoders, which load with the first stream. */
export { NativeDialect } from "./native-dialect.ts";
export { TwilioDialect, twilioParameters, twilioStreamSid } from "./twilio-dialect.ts";
