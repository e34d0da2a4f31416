import { z } from 'zod';
import { listenFor } from '../../../config/paths.ts';
import type { Config } from '../../../config/schema.ts';
import type { Context } from '../../../context.ts';
import { Refusal, refusals } from '../../../errors.ts';
import { type Finding, found, right, skipped, wrong } from '../../../finding.ts';
import { jsonIn } from '../../../input.ts';
import type { Next, Todo } from '../../../next.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { isLoopback } from '../../../text/address.ts';
import { portOf } from '../daemons.ts';
import { type Check, check } from './check.ts';

const startDaemon: Todo = { say: 'Start it', operation: 'serve' };
const start: Next = [
  'Start the daemon, or correct baseUrl.',
  { say: 'To start it, run', operation: 'serve' },
];
const ownPlace =
  'Start the daemon of this database. First give it its own listen and baseUrl, or stop the other daemon.';
const metadata = z.object({ issuer: z.string() });

// RFC 2606 §3 reserves this domain, so the answer does not depend on any organization's records.
const domain = 'example.com';

/**
 * Checks the network services that no organization configures. `servesAnother` says whether the
 * daemon at the base URL uses another database. Without it, the result says that this was not
 * checked.
 */
export function checkNetwork(
  config: Config,
  outbound: Outbound,
  servesAnother?: () => Promise<boolean>,
): Promise<Check[]> {
  return Promise.all([
    checkBaseUrl(config, outbound, servesAnother),
    checkClock(config.doh.resolverUrl, outbound),
    check('resolver', 'an answer to a DNS query', async () => {
      const { rcode } = await outbound.lookupTxt(domain);
      if (rcode === 'NOERROR' || rcode === 'NXDOMAIN') return right(config.doh.resolverUrl);
      return wrong(
        `${rcode} for the TXT records of ${domain}`,
        'Set doh.resolverUrl to another resolver.',
      );
    }),
    checkMail(config, outbound),
  ]);
}

function checkBaseUrl(
  config: Config,
  outbound: Outbound,
  servesAnother: (() => Promise<boolean>) | undefined,
): Promise<Check> {
  return check('base URL', 'the daemon answers there, with this base URL', () =>
    examineDaemon({ config, outbound }, config.baseUrl, servesAnother),
  );
}

const readiness = z.object({ writable: z.boolean() });
const problem = z.object({ code: z.string().refine((code) => Object.hasOwn(refusals, code)) });
const notReady = 'The daemon is running. Correct the other faults, or read the reason in its log.';

/**
 * Checks that the daemon of this database answers at the address over trusted TLS and, at the base
 * URL, that it has this base URL too. If so, says whether the daemon reports that writes succeed.
 */
export async function examineDaemon(
  { config, outbound }: Pick<Context, 'config' | 'outbound'>,
  address: string,
  servesAnother?: () => Promise<boolean>,
): Promise<Finding<{ writable: boolean }>> {
  const answer = await outbound.reach(`${address}/readyz`).catch(refusalIn);
  if (answer instanceof Refusal) return unreached(answer, config, address);
  const { status, body } = answer;
  const code = problem.safeParse(jsonIn(body)).data?.code;
  if (code !== undefined) return wrong(`the daemon at ${address} is not ready (${code})`, notReady);
  if (status !== 200) return wrong(`${address}/readyz answers HTTP ${status}`, start);
  // A daemon of an older release may not report this.
  const writable = readiness.safeParse(jsonIn(body)).data?.writable ?? true;
  const issuer = address === config.baseUrl ? await issuerAt(address, outbound) : config.baseUrl;
  if (issuer !== config.baseUrl)
    return wrong(
      `the server at ${address} is ${issuer === null ? 'not idctl' : `set up as ${issuer}`}`,
      'Set baseUrl to the address at which people reach idctl, and restart the daemon.',
    );
  if (servesAnother === undefined)
    return found({ writable }, address, 'Not checked: whether this daemon uses this database.');
  return (await servesAnother())
    ? wrong(`the daemon at ${address} uses another database`, ownPlace)
    : found({ writable }, address);
}

async function issuerAt(address: string, outbound: Outbound): Promise<string | null> {
  const { body } = await outbound.reach(`${address}/.well-known/oauth-authorization-server`);
  return metadata.safeParse(jsonIn(body)).data?.issuer ?? null;
}

function refusalIn(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

function unreached({ failure, message }: Refusal, config: Config, address: string) {
  const isSilent = failure?.reason === 'connection_refused';
  const seen = isSilent ? `nothing listens on ${new URL(address).host}` : message;
  const isOwn = address !== config.baseUrl || listenFor(address) === config.listen;
  return wrong(seen, isSilent && isOwn ? startDaemon : changeFor(failure?.reason, config));
}

function changeFor(reason: string | undefined, { baseUrl, listen }: Config): Next {
  const { host, hostname } = new URL(baseUrl);
  if (reason === 'name_not_found')
    return `Make ${host} resolve on this machine, or correct baseUrl.`;
  if (reason === 'tls_missing') {
    const open = isLoopback(hostname) ? `, or set baseUrl to http://${host}` : '';
    return `The daemon serves plain http. Put a proxy with TLS in front of it${open}.`;
  }
  if (reason?.startsWith('tls_'))
    return 'Renew or complete the certificate. For your own certificate authority, set outbound.caFile.';
  const wanted = listenFor(baseUrl);
  if (wanted === null || portOf(wanted) === portOf(listen)) return start;
  return `The daemon listens on ${listen}. Set listen to ${wanted}, or correct baseUrl, and restart the daemon.`;
}

/**
 * Compares our clock with the clock of the resolver. The checks of connections compare the clocks
 * of the providers.
 */
function checkClock(resolverUrl: string, outbound: Outbound): Promise<Check> {
  return check('clock', "at most 60 seconds from the resolver's", async () => {
    const reached = await outbound.reach(resolverUrl).catch(refusalAsNull);
    if (reached === null) return skipped('the resolver cannot be reached');
    if (reached.date === null) return skipped('the resolver does not send a time');
    const seconds = Math.round((Date.now() - reached.date.getTime()) / 1000);
    const apart = `${Math.abs(seconds)} seconds ${seconds < 0 ? 'behind' : 'ahead'}`;
    if (Math.abs(seconds) > 60) return wrong(apart, 'Set the clock of this machine with NTP.');
    return right(Math.abs(seconds) <= 1 ? 'the same' : apart);
  });
}

function refusalAsNull(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}

/** Checks connection, TLS and authentication, without sending mail. */
function checkMail({ mail }: Config, outbound: Outbound): Promise<Check> {
  return check('mail', 'the server accepts the connection and the credentials', async () => {
    if (mail.smtpUrl === undefined) return right('no mail is sent: mail.smtpUrl is not set');
    await outbound.greetMailServer();
    return right(new URL(mail.smtpUrl).host);
  });
}
