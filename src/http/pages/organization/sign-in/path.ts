/** The page about how the people of an organization sign in. */
export const path = '/orgs/:org/sign-in';

/** Its address for an organization. */
export const pathOf = ({ org }: { org: string }) => `/orgs/${encodeURIComponent(org)}/sign-in`;
