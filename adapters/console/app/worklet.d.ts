/** The URL of an AudioWorklet module, which the build bundles as a separate file (`.ci/console.ts`). */
declare module "*?worklet" {
  const url: string;
  export default url;
}

declare module "*.css";
