import type { Domain } from '../../../database/models/domain.ts';

/** The TXT value that proves the domain (spec §2.1). */
export function txtValue(domain: Pick<Domain, 'token'>): string {
  return `svc-verify=${domain.token}`;
}

/** A domain with the record that proves it. */
export function viewDomain(domain: Domain) {
  return {
    domain: domain.name,
    state: domain.state,
    txtRecord: { name: '@' as const, type: 'TXT' as const, value: txtValue(domain) },
    verifiedAt: domain.verifiedAt?.toISOString() ?? null,
    verifiedBy: domain.verifiedBy,
  };
}
