import { setTimeout as pause } from 'node:timers/promises';
import { password } from './builders.ts';
import { type Answer, createClient } from './http.ts';
import type { Stage } from './mixed-load.ts';

/** Accounts with a password: for tokens, for sessions, and for changes of the password. */
export const [tina, rita, paul] = ['tina@home.test', 'rita@home.test', 'paul@home.test'] as const;

/** A credential that a load created, and its subject in the ledger. */
export interface Credential {
  subject: string;
  bearer: string;
}

const changes = `user.password.changed of ${paul}`;

/** Paul's password after `times` changes. */
const passwordAfter = (times: number) => (times === 0 ? password : `${password} ${times}`);

/** The workers that write tokens and sessions, and change a password. */
export function credentialWriters(stage: Stage): (() => Promise<void>)[] {
  return [tokenHolder(stage), sessionHolder(stage), passwordChanger(stage)];
}

interface Session {
  subject: string;
  access: string;
  refresh: string;
  /** When the session was received, in milliseconds. */
  at: number;
}

/** Signs in, and records the session as live. Null unless the sign-in was acknowledged. */
async function signIn(stage: Stage, email: string, given: string): Promise<Session | null> {
  const answer = await createClient(stage.url)
    .post('/api/v1/auth/login', { email, password: given })
    .catch(() => null);
  if (answer === null) return null;
  // Only the answer names the session, so the write is recorded afterwards.
  const session = answer.status === 200 ? sessionOf(answer) : null;
  const changes = session === null ? {} : { [session.subject]: 'live' };
  await stage.ledger.write(`sign in ${email}`, changes, async () => answer);
  if (session !== null) stage.made.push({ subject: session.subject, bearer: session.access });
  return session;
}

function sessionOf({ body }: Answer): Session {
  const claims = JSON.parse(Buffer.from(body.accessToken.split('.')[1], 'base64url').toString());
  return {
    subject: `session ${claims.sid}`,
    access: body.accessToken,
    refresh: body.refreshToken,
    at: Date.now(),
  };
}

/** Makes personal access tokens and revokes them. */
function tokenHolder(stage: Stage): () => Promise<void> {
  const { ledger, random } = stage;
  const held: { id: string; subject: string }[] = [];
  let session: Session | null = null;
  return async () => {
    // The access token is valid for a quarter of an hour only.
    if (session === null || session.at < Date.now() - 600_000)
      session = await signIn(stage, tina, password);
    if (session === null) return;
    const client = createClient(stage.url, {
      headers: { authorization: `Bearer ${session.access}` },
    });
    const oldest = random() < 0.4 ? held.shift() : undefined;
    if (oldest !== undefined) {
      await ledger.write(`revoke ${oldest.subject}`, { [oldest.subject]: 'gone' }, () =>
        client.send('DELETE', `/api/v1/me/tokens/${oldest.id}`),
      );
      return;
    }
    const name = crypto.randomUUID();
    const subject = `token ${name}`;
    const body = await ledger.write(`create ${subject}`, { [subject]: 'live' }, () =>
      client.post('/api/v1/me/tokens', { name }),
    );
    if (body === null) session = null;
    else {
      held.push({ id: body.id, subject });
      stage.made.push({ subject, bearer: body.token });
    }
  };
}

/** Signs in, rotates the refresh token with two requests at once, and signs out. */
function sessionHolder(stage: Stage): () => Promise<void> {
  const { ledger, random } = stage;
  let session: Session | null = null;
  const rotate = async (of: Session) => {
    const ask = () =>
      ledger.write('refresh a session', {}, () =>
        createClient(stage.url).post('/api/v1/auth/refresh', { refreshToken: of.refresh }),
      );
    const answers = (await Promise.all([ask(), ask()])).filter((body) => body !== null);
    const next = new Set(answers.map(({ refreshToken }) => String(refreshToken)));
    if (next.size > 1) ledger.faults.push(`${of.subject}: two successors of a token`);
    // Without an answer, the token may be used up.
    const [refresh] = next;
    return refresh === undefined ? null : { ...of, refresh };
  };
  return async () => {
    if (session === null) session = await signIn(stage, rita, password);
    else if (random() < 0.8) session = await rotate(session);
    else {
      const { subject, refresh } = session;
      session = null;
      await ledger.write(`end ${subject}`, { [subject]: 'gone' }, () =>
        createClient(stage.url).post('/api/v1/auth/logout', { refreshToken: refresh }),
      );
    }
  };
}

/** Changes the password in a new session, which ends the other sessions. */
function passwordChanger(stage: Stage): () => Promise<void> {
  const { ledger } = stage;
  let live: string[] = [];
  return async () => {
    if (!ledger.isSettled(changes)) return;
    const times = Number(ledger.stateOf(changes) ?? 0);
    const currentPassword = passwordAfter(times);
    const own = await enter(currentPassword);
    if (own === null) return;
    const others = live.filter((subject) => subject !== own.subject);
    const ends = Object.fromEntries(others.map((subject) => [subject, 'gone']));
    await ledger.write('change the password', { [changes]: times + 1, ...ends }, () =>
      createClient(stage.url).post(
        '/api/v1/me/password',
        { currentPassword, newPassword: passwordAfter(times + 1) },
        { authorization: `Bearer ${own.access}` },
      ),
    );
  };

  async function enter(given: string): Promise<Session | null> {
    const session = await signIn(stage, paul, given);
    live = live.filter((subject) => ledger.stateOf(subject) === 'live');
    if (session !== null) live.push(session.subject);
    return session;
  }
}

/** Repeats a request after each 503: at times, a slow machine is too busy to check a password. */
export async function answered(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await pause(500);
  }
}

/** Tries the credentials of a round and the passwords, and adds each wrong answer to the faults. */
export async function tryCredentials(stage: Stage): Promise<void> {
  const { ledger } = stage;
  const client = createClient(stage.url);
  for (const { subject, bearer } of stage.made.splice(0)) {
    const { status } = await answered(() =>
      client.get('/api/v1/me', { authorization: `Bearer ${bearer}` }),
    );
    if (status !== (ledger.stateOf(subject) === 'live' ? 200 : 401))
      ledger.faults.push(`${subject} is ${ledger.stateOf(subject)} and answers ${status}`);
  }
  const times = Number(ledger.stateOf(changes) ?? 0);
  const expected: [string, number][] = [[passwordAfter(times), 200]];
  if (times > 0) expected.push([passwordAfter(times - 1), 401]);
  for (const [given, right] of expected) {
    const body = { email: paul, password: given };
    const { status } = await answered(() => client.post('/api/v1/auth/login', body));
    if (status !== right) ledger.faults.push(`password ${times} of paul: ${status}, not ${right}`);
  }
}
