import type { TxtAnswer } from '../../../outbound/outbound.ts';

/**
 * Whether the resolver's answer proves the expected value: a whole value, in a complete answer
 * without an error (security D3).
 */
export function isProven(answer: TxtAnswer, expected: string): boolean {
  return answer.rcode === 'NOERROR' && !answer.truncated && answer.values.includes(expected);
}
