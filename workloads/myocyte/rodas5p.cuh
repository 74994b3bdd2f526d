/*
 * rodas5p.cuh - the coefficients of RODAS5P, a Rosenbrock method of eight stages, order 5 with an
 * embedded order 4; L-stable and stiffly accurate.
 *
 * Source: Steinebach, "Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks
 * within the Julia Differential Equations package", BIT Numer. Math. 63 (2023) 27. In the form
 * that needs no product with the Jacobian J (Hairer and Wanner, Solving Ordinary Differential
 * Equations II, IV.7): stage i of a step of length h from y is
 *
 *   (1/(gamma h) - J) u_i = f(y + sum a_ij u_j) + sum c_ij u_j / h
 *
 * and the new state is the last stage's plus u_8, which is its error too.
 */
#ifndef RIFT_MYOCYTE_RODAS5P_CUH
#define RIFT_MYOCYTE_RODAS5P_CUH

namespace rodas5p
{
enum { STAGES = 8 };

constexpr double gamma = 0.21193756319429014;

// clang-format off
#define RODAS5P_STAGE_6                                                                            \
	-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,          \
	0.030198172008377946

constexpr double a[STAGES][STAGES] = {
	{},
	{ 3 },
	{ 2.849394379747939, 0.45842242204463923 },
	{ -6.954028509809101, 2.489845061869568, -10.358996098473584 },
	{ 2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641 },
	{ RODAS5P_STAGE_6 },
	{ RODAS5P_STAGE_6, 1 },
	{ RODAS5P_STAGE_6, 1, 1 },
};
#undef RODAS5P_STAGE_6

constexpr double c[STAGES][STAGES] = {
	{},
	{ -14.155112264123755 },
	{ -17.97296035885952, -2.859693295451294 },
	{ 147.12150275711716, -1.41221402718213, 71.68940251302358 },
	{ 165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306 },
	{ 24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125,
	  -0.6610691825249471 },
	{ 30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
	  -19.097331116725623, -28.087943162872662 },
	{ 37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
	  -40.06618937091002, -54.66780262877968, -9.48861652309627 },
};
// clang-format on
} // namespace rodas5p

#endif
