/** A file that is sent while it is read. Ending the iteration early ends the reading. */
export interface Download {
  /** The media type. */
  type: string;
  /** The name to store it under, of letters, digits, dashes and dots. */
  name: string;
  parts: AsyncIterable<string>;
  /**
   * Sends the file when it is the turn of its organization, which it keeps until then. Refuses with
   * `overloaded` (security O15).
   */
  inTurn(send: () => Promise<void>): Promise<void>;
}
