/** The Users of one page at most. */
export const mostInPage = 200;
