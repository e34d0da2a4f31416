import { configSchema } from '../../src/config/schema.ts';
import { createOutbound } from '../../src/outbound/create.ts';
import { defaultLimits, type Limits } from '../../src/outbound/limits.ts';
import type { Outbound } from '../../src/outbound/outbound.ts';

/** Creates the outbound platform with these settings; `limits` replaces some of its limits. */
export function openNetwork(
  settings: {
    outbound?: { allow?: string[]; caFile?: string };
    doh?: { resolverUrl?: string; caFile?: string };
    ldap?: { allowPlaintext?: 'on' | 'off' };
    mail?: { smtpUrl?: string; caFile?: string; from?: string };
  },
  limits: Partial<Limits> = {},
  assertIdle: (what: string) => void = () => undefined,
): Outbound {
  const parsed = configSchema.parse(settings);
  const config = {
    ...parsed,
    baseUrl: 'http://127.0.0.1:8420',
    keyFile: 'unused',
    database: { ...parsed.database, url: 'sqlite:unused' },
  };
  return createOutbound(config, assertIdle, { ...defaultLimits, ...limits });
}
