import { z } from 'zod';
import { isLoopback } from '../../../address.ts';
import { listenFor } from '../../../config/places.ts';
import type { Config } from '../../../config/schema.ts';
import { Refusal } from '../../../errors.ts';
import { right, skipped, wrong } from '../../../finding.ts';
import { jsonIn } from '../../../input.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { portOf } from '../daemons.ts';
import { type Check, check } from './check.ts';

const start = 'Start the daemon (idctl serve, or systemctl start idctl), or correct baseUrl.';
const ownPlace =
  'Start the daemon of this database, after giving it a listen and a baseUrl of its own or stopping the other one.';
const metadata = z.object({ issuer: z.string() });

// RFC 2606 §3 reserves this domain, so no organization's records interfere.
const domain = 'example.com';

/**
 * Checks the network outside the machine that belongs to no organization. `servesAnother` tells
 * whether the daemon at the base URL has another database. Without it, that check is reported as
 * skipped.
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
        'Name another resolver with doh.resolverUrl.',
      );
    }),
    checkMail(config, outbound),
  ]);
}

/** Whether the daemon answers at its base URL, over trusted TLS, and names the same URL. */
function checkBaseUrl(
  config: Config,
  outbound: Outbound,
  servesAnother: (() => Promise<boolean>) | undefined,
): Promise<Check> {
  const { baseUrl } = config;
  return check('base URL', 'the daemon answers there, with this base URL', async () => {
    const { status } = await outbound
      .reach(`${baseUrl}/readyz`)
      .catch((error) => unreached(error, config));
    if (status !== 200) return wrong(`${baseUrl}/readyz answers HTTP ${status}`, start);
    const { body } = await outbound.reach(`${baseUrl}/.well-known/oauth-authorization-server`);
    const issuer = metadata.safeParse(jsonIn(body)).data?.issuer ?? null;
    if (issuer === baseUrl) {
      if (servesAnother === undefined)
        return right(baseUrl, 'Not checked: whether it serves this database.');
      return (await servesAnother())
        ? wrong(`the daemon at ${baseUrl} serves another database`, ownPlace)
        : right(baseUrl);
    }
    return wrong(
      `the server at ${baseUrl} is ${issuer === null ? 'not idctl' : `set up as ${issuer}`}`,
      'Set baseUrl to where people reach idctl, and restart the daemon.',
    );
  });
}

function unreached(error: unknown, config: Config): never {
  if (!(error instanceof Refusal)) throw error;
  const hint = changeFor(String(error.extra['reason']), config);
  throw new Refusal(error.code, error.message, { hint, extra: error.extra, cause: error });
}

function changeFor(reason: string, { baseUrl, listen }: Config): string {
  const { host, hostname } = new URL(baseUrl);
  if (reason === 'name_not_found')
    return `Have ${host} resolved from this machine, or correct baseUrl.`;
  if (reason === 'tls_missing') {
    const open = isLoopback(hostname) ? `, or set baseUrl to http://${host}` : '';
    return `The daemon speaks plain http: have a proxy with TLS answer there${open}.`;
  }
  if (reason.startsWith('tls_'))
    return 'Renew or complete the certificate there; outbound.caFile names an authority of your own.';
  const wanted = listenFor(baseUrl);
  if (wanted === null || portOf(wanted) === portOf(listen)) return start;
  return `The daemon listens on ${listen}: set listen to ${wanted}, or baseUrl to where it is reached, and start it again.`;
}

/** Compares our clock with the resolver's. Those of providers are checked with connections. */
function checkClock(resolverUrl: string, outbound: Outbound): Promise<Check> {
  return check('clock', "at most 60 seconds from the resolver's", async () => {
    const reached = await outbound.reach(resolverUrl).catch(refusalAsNull);
    if (reached === null) return skipped('the resolver cannot be reached');
    if (reached.date === null) return skipped('the resolver sends no time');
    const seconds = Math.round((Date.now() - reached.date.getTime()) / 1000);
    const apart = `${Math.abs(seconds)} seconds ${seconds < 0 ? 'behind' : 'ahead'}`;
    if (Math.abs(seconds) > 60) return wrong(apart, 'Have the clock of this machine set by NTP.');
    return right(Math.abs(seconds) <= 1 ? 'the same' : apart);
  });
}

function refusalAsNull(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}

/** Connection, TLS and sign-in; no mail is sent. */
function checkMail({ mail }: Config, outbound: Outbound): Promise<Check> {
  return check('mail', 'the server takes the connection and the sign-in', async () => {
    if (mail.smtpUrl === undefined) return right('none is sent: mail.smtpUrl is not set');
    await outbound.greetMailServer();
    return right(new URL(mail.smtpUrl).host);
  });
}
