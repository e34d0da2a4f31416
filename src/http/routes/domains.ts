import { addDomain } from '../../services/tenancy/domains/add.ts';
import { listDomains } from '../../services/tenancy/domains/list.ts';
import { removeDomain } from '../../services/tenancy/domains/remove.ts';
import {
  addDomainInput,
  domainPage,
  domainView,
  listDomainsInput,
  removeDomainInput,
  verifyDomainInput,
} from '../../services/tenancy/domains/schema.ts';
import { verifyDomain } from '../../services/tenancy/domains/verify.ts';
import { route } from '../route.ts';

/** Verified domains (spec §2.1, §3.1). */
export const domainRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/domains',
    summary: 'The domains, with the records that prove them',
    access: 'domains.see',
    input: listDomainsInput,
    output: domainPage,
    cli: 'domain list',
    run: listDomains,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/domains',
    summary: 'Claim a domain',
    access: 'domains.change',
    input: addDomainInput,
    output: domainView,
    status: 201,
    cli: 'domain add',
    run: addDomain,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/domains/:domain/verify',
    summary: 'Look the TXT record up and verify the domain',
    access: 'domains.change',
    input: verifyDomainInput,
    output: domainView,
    cli: 'domain verify',
    run: verifyDomain,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/domains/:domain',
    summary: 'Give a domain up; its connection is switched off',
    access: 'domains.change',
    input: removeDomainInput,
    cli: 'domain remove',
    run: removeDomain,
  }),
];
