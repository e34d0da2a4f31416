import { startSmtp } from '../support/smtp.ts';
import { type Figure, figure, median } from './figures.ts';
import { openLine } from './load.ts';
import { setStage } from './stage.ts';

const perRound = 20;
const known = 'ada@example.test';
const unknown = 'nobody@example.test';

const asks = {
  'new password': { path: '/api/v1/auth/password/reset', more: {}, expect: 202 },
  'code to sign in': { path: '/api/v1/auth/magic-code', more: {}, expect: 202 },
  'wrong code': { path: '/api/v1/auth/magic-code/verify', more: { code: '000000' }, expect: 401 },
  'sign-up': {
    path: '/api/v1/auth/signup',
    more: { password: 'correct horse battery', name: 'Ada Byron' },
    expect: 201,
  },
};

/**
 * Measures whether response times reveal that an account exists, for requests that send mail
 * (security P7).
 */
export async function benchMail(name: 'SQLite' | 'PostgreSQL', rounds: number): Promise<Figure[]> {
  const smtp = await startSmtp();
  const stage = await setStage(name, {
    IDCTL_MAIL_SMTP_URL: smtp.url,
    IDCTL_SIGNUP_OPEN: 'on',
    IDCTL_LIMITS_CODE_SENDS: '1000000',
  });
  const line = openLine(stage.url);
  try {
    const figures: Figure[] = [];
    for (const [what, { path, more, expect }] of Object.entries(asks)) {
      const taken: Record<string, number[]> = { [known]: [], [unknown]: [] };
      for (let turn = 0; turn < rounds * perRound; turn += 1) {
        // A sign-up creates the account, so each sign-up needs a new address.
        const stranger = what === 'sign-up' ? `nobody${turn}@example.test` : unknown;
        const bodies = [
          [known, known],
          [unknown, stranger],
        ] as const;
        for (const [who, email] of turn % 2 === 0 ? bodies : bodies.toReversed()) {
          taken[who]?.push(
            await line.time({ path, method: 'POST', body: { email, ...more }, expect }),
          );
        }
      }
      figures.push(...compared(what, taken[known] ?? [], taken[unknown] ?? []));
    }
    return figures;
  } finally {
    await line.close();
    await stage.stop();
    await smtp.stop();
  }
}

/**
 * Compares the two requests of each turn, because other load on the machine changes between turns.
 */
function compared(what: string, ofKnown: number[], ofUnknown: number[]): Figure[] {
  const [a, b] = [median(ofKnown), median(ofUnknown)];
  const apart = ofKnown.map((each, turn) => each - (ofUnknown[turn] ?? 0));
  return [
    figure(`${what}: known`, a, 'ms'),
    figure(`${what}: unknown`, b, 'ms'),
    figure(`${what}: difference`, (100 * Math.abs(median(apart))) / Math.min(a, b), '%', {
      most: 5,
    }),
  ];
}
