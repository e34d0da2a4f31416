import '../../services/explain-truth.test.ts';
