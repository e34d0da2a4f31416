import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../src/context.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { password } from './builders.ts';
import { type Installation, install } from './installation.ts';
import type { Ledger } from './ledger.ts';
import { type Credential, credentialWriters, paul, rita, tina } from './load-credentials.ts';
import { memberEmails, peopleWriters } from './load-people.ts';
import { enrolAll, linkUser, mailUsers, spenders, totpUsers } from './load-single-use.ts';
import { type Smtp, startSmtp } from './smtp.ts';

/** The state that the workers of a load share. */
export interface Stage {
  site: Installation;
  ledger: Ledger;
  random: () => number;
  /** The current URL of the daemon. */
  url: string;
  /** Whether a proxy stands before the daemons, and repeats a DELETE that gets no answer. */
  repeatsDelete: boolean;
  smtp: Smtp;
  /** The path of the SCIM users, and the token of the SCIM client. */
  scim: { users: string; token: string };
  /** A personal access token of the owner. */
  ownerToken: string;
  /** Credentials that this round created, to try after the fault. */
  made: Credential[];
  /** Accounts with a second factor, and the last time step that was tried. */
  enrolled: { email: string; secret: string; last: number }[];
  /** The number of the round. In each round, the load creates one sign-in link. */
  round: number;
  close(): Promise<void>;
}

/** Creates an instance with all accounts and tokens of a load. */
export async function setStage(given: {
  ledger: Ledger;
  random: () => number;
  /** The database; by default, a fresh one of the run. */
  database?: string;
  /** The words that start the program; by default, the program under test. */
  program?: readonly string[];
  /** Further environment variables. */
  env?: Record<string, string>;
  /** Further preparation by the operator. */
  prepare?: (operator: () => Context) => Promise<void>;
}): Promise<Stage> {
  const { ledger, random, env, prepare, ...where } = given;
  const smtp = await startSmtp();
  let ownerToken = '';
  let scim = { users: '', token: '' };
  const site = await install({
    ...where,
    env: {
      IDCTL_MAIL_SMTP_URL: smtp.url,
      IDCTL_MAIL_FROM: 'idctl@acme.test',
      IDCTL_SIGNIN_MAGIC_CODE: 'on',
      IDCTL_LIMITS_ENABLED: 'off',
      IDCTL_OUTBOUND_ALLOW: '127.0.0.1',
      ...env,
    },
    prepare: async (operator) => {
      await addDomain(operator(), { org: 'acme', domain: 'acme.test' });
      await assertDomain(operator(), { org: 'acme', domain: 'acme.test' });
      const { token, baseUrl } = await rotateScimToken(operator(), { org: 'acme' });
      scim = { users: `${new URL(baseUrl).pathname}/Users`, token };
      const owner = { user: 'olga@acme.test', name: 'owner', scope: 'admin' as const };
      ownerToken = (await createToken(operator(), owner)).token;
      const add = (email: string, more = {}) =>
        createUser(operator(), { email, name: 'Ada', ...more });
      for (const email of [...memberEmails, ...mailUsers, linkUser]) await add(email);
      for (const email of [tina, rita, paul, ...totpUsers]) await add(email, { password });
      await prepare?.(operator);
    },
  });
  const close = async () => {
    await site.close();
    await smtp.stop();
  };
  const nothingYet = { url: '', repeatsDelete: false, made: [], enrolled: [], round: 0 };
  return { ledger, random, site, smtp, scim, ownerToken, ...nothingYet, close };
}

/** A mix of writes that a test can start repeatedly. */
export interface Load {
  /** Starts the load. The returned function stops it, and waits for the open requests. */
  start(): () => Promise<void>;
}

/** Creates the workers of a load, and adds `others`. The daemon must be running. */
export async function openLoad(
  stage: Stage,
  others: (() => Promise<void>)[] = [],
  restMs = 20,
): Promise<Load> {
  await enrolAll(stage);
  const steps = [
    ...peopleWriters(stage),
    ...credentialWriters(stage),
    ...spenders(stage),
    ...others,
  ];
  return {
    start() {
      stage.round += 1;
      let over = false;
      const working = steps.map(async (step) => {
        while (!over) {
          await step();
          await pause(stage.random() * restMs);
        }
      });
      return async () => {
        over = true;
        await Promise.all(working);
      };
    },
  };
}
