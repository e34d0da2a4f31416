/** The page about accounts from the organization's directory. */
export const path = '/orgs/:org/directory';

/** Its address for an organization. */
export const pathOf = ({ org }: { org: string }) => `/orgs/${encodeURIComponent(org)}/directory`;
