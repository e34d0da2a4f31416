import { type Finding, fine, wrong } from './finding.ts';

/** Whether the provider's clock goes with ours; both in milliseconds since 1970, null when it does not tell. */
export function examineClock(theirs: number | null, ours: number): Finding {
  if (theirs === null) return fine('the provider does not tell its time');
  const seconds = Math.round((theirs - ours) / 1000);
  const apart = `${Math.abs(seconds)} seconds ${seconds < 0 ? 'behind' : 'ahead of'} ours`;
  if (Math.abs(seconds) <= 60) return fine(seconds === 0 ? 'the same' : apart);
  return wrong(apart, 'Have this machine and the provider set their clocks by NTP.');
}
