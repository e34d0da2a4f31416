import { generateSync } from 'otplib';
import { password } from './builders.ts';
import { type Client, createClient } from './http.ts';
import { answered } from './load-credentials.ts';
import type { Stage } from './mixed-load.ts';

/** The account that the operator creates sign-in links for. */
export const linkUser = 'lea@home.test';
/** Accounts that ask for mailed codes, in turn. */
export const mailUsers = Array.from({ length: 150 }, (_, at) => `mail${at}@home.test`);
/** Accounts that sign in with a second factor. */
export const totpUsers = ['tom@home.test', 'tim@home.test', 'tess@home.test'];

const uses = (email: string, method: string) => `sign-ins of ${email} by ${method}`;

/**
 * The workers that use single-use credentials twice at once: mailed codes, links and TOTP codes.
 */
export function spenders(stage: Stage): (() => Promise<void>)[] {
  return [mailCodes(stage), links(stage), timeSteps(stage)];
}

/** Requests codes by mail, and uses each code that arrives. */
function mailCodes(stage: Stage): () => Promise<void> {
  const { ledger, smtp } = stage;
  const [unasked, waiting] = [[...mailUsers], new Set<string>()];
  return async () => {
    if (waiting.size < 2) {
      const email = unasked.shift();
      if (email === undefined) return;
      // Moves the account to the end of the list, because a second code would replace the first.
      unasked.push(email);
      const asked = await ledger.write(`mail a code to ${email}`, {}, () =>
        createClient(stage.url).post('/api/v1/auth/magic-code', { email }),
      );
      if (asked !== null) waiting.add(email);
      return;
    }
    const at = smtp.letters.findLastIndex(({ to }) => waiting.has(to));
    // Removes the letter, because the next one to this account has another code.
    const [letter] = at < 0 ? [] : smtp.letters.splice(at, 1);
    if (letter === undefined) return;
    waiting.delete(letter.to);
    const email = letter.to;
    const code = /\b\d{6}\b/.exec(letter.text)?.[0];
    // A mail whose daemon was killed during its delivery is sent again, with another code.
    await ledger.useOnce(
      `use the code of ${email}`,
      uses(email, 'magicCode'),
      () => createClient(stage.url).post('/api/v1/auth/magic-code/verify', { email, code }),
      'may refuse',
    );
  };
}

/** Creates a sign-in link in each round, with a command beside the daemon, and uses it. */
function links(stage: Stage): () => Promise<void> {
  const { ledger } = stage;
  const subject = uses(linkUser, 'loginLink');
  const made = `user.login_link.created of ${linkUser}`;
  let [round, unused, spent]: [number, string?, string?] = [0];
  // Does not use `open`, which follows the redirect and fails if only that request is cut off.
  const use = async (url: string) => {
    const { pathname, search, searchParams } = new URL(url);
    const client = createClient(stage.url, { keepCookies: true });
    const page = await client.get(pathname + search, { accept: 'text/html' });
    if (page.status !== 200) return page;
    const [, token = ''] = /name="token"[^>]*? value="([^"]*)"/.exec(page.body) ?? [];
    return client.form(pathname, { token, link: searchParams.get('token') ?? '' });
  };
  return async () => {
    if (!ledger.isSettled(subject) || !ledger.isSettled(made)) return;
    if (unused !== undefined) {
      const url = unused;
      unused = undefined;
      if (await ledger.useOnce('use a link', subject, () => use(url))) spent = url;
    } else if (spent !== undefined) {
      const answer = await use(spent).catch(() => null);
      spent = undefined;
      if (answer !== null && answer.status < 400) ledger.faults.push('a used link signs in again');
    } else if (round < stage.round) {
      round = stage.round;
      const change = { [made]: Number(ledger.stateOf(made) ?? 0) + 1 };
      unused = (await ledger.write('make a link', change, () => makeLink(stage)))?.url;
    }
  };
}

async function makeLink({ site }: Stage): ReturnType<Client['send']> {
  const { code, out, err } = await site.run(['user', 'login-link', linkUser, '--json']);
  const headers = { 'retry-after': '1' };
  // Exit code 3: the database cannot be used.
  if (code !== 0) return { status: code === 3 ? 503 : 500, headers, body: err, cookies: [] };
  return { status: 200, headers, body: JSON.parse(out), cookies: [] };
}

const periodSeconds = 30;
const stepNow = () => Math.floor(Date.now() / 1000 / periodSeconds);
const codeAt = (secret: string, step: number) =>
  generateSync({ secret, epoch: step * periodSeconds });

/** Turns on the second factor of `totpUsers`, with a code of the previous period. */
export async function enrolAll(stage: Stage): Promise<void> {
  for (const email of totpUsers) {
    const client = createClient(stage.url, { keepCookies: true });
    const post = (path: string, body?: object) => answered(() => client.post(path, body));
    const signIn = () => post('/api/v1/auth/login', { email, password });
    await stage.ledger.write(`sign in ${email}`, { [uses(email, 'password')]: 1 }, signIn);
    const { secret } = (await post('/api/v1/me/totp')).body;
    const last = stepNow() - 1;
    const confirm = { code: codeAt(secret, last) };
    await stage.ledger.write(`enrol ${email}`, {}, () => post('/api/v1/me/totp/confirm', confirm));
    stage.enrolled.push({ email, secret, last });
  }
}

/** Signs in with TOTP codes, and tries each accepted code again. */
function timeSteps(stage: Stage): () => Promise<void> {
  const { ledger } = stage;
  return async () => {
    const person = stage.enrolled.find(
      ({ email, last }) => last <= stepNow() && ledger.isSettled(uses(email, 'password')),
    );
    if (person === undefined) return;
    const { email, secret } = person;
    // idctl also accepts the code of the next period, because clocks may differ by one.
    person.last = Math.max(person.last + 1, stepNow());
    const totpCode = codeAt(secret, person.last);
    const signIn = () =>
      createClient(stage.url).post('/api/v1/auth/login', { email, password, totpCode });
    if (!(await ledger.useOnce(`use a code of ${email}`, uses(email, 'password'), signIn))) return;
    const again = await signIn().catch(() => null);
    if (again?.status === 200) ledger.faults.push(`a code of ${email} is accepted again`);
  };
}
