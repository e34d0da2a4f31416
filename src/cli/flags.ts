/** The options that every command takes. */
export interface Flags {
  /** Print the view as JSON, refusals too. */
  json: boolean;
  /** Print nothing but results and refusals. */
  quiet: boolean;
  /** Do not ask before destroying. */
  yes: boolean;
  /** Only show what would be destroyed. */
  dryRun: boolean;
  /** The configuration file, when named on the command line. */
  config: string | undefined;
}
