import {
  addDomain,
  listDomains,
  removeDomain,
  verifyDomain,
} from '../../services/tenancy/domains/operations.ts';
import { route } from '../route.ts';

/** Verified domains (spec §2.1, §3.1). */
export const domainRoutes = [
  route('GET', '/api/v1/orgs/:org/domains', listDomains, {
    summary: 'The domains, with the records that prove them',
    cli: 'domain list',
  }),
  route('POST', '/api/v1/orgs/:org/domains', addDomain, {
    summary: 'Claim a domain',
    dryRun: true,
    status: 201,
    cli: 'domain add',
  }),
  route('POST', '/api/v1/orgs/:org/domains/:domain/verify', verifyDomain, {
    summary: 'Look up the TXT record and verify the domain',
    cli: 'domain verify',
  }),
  route('DELETE', '/api/v1/orgs/:org/domains/:domain', removeDomain, {
    summary: 'Give up a domain; the connection that relies on it is disabled',
    cli: 'domain remove',
  }),
];
