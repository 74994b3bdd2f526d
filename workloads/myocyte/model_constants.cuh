/*
 * model_constants.cuh - constants of the myocyte model, with the names of the papers.
 *
 * ms, mV, A/F, mM (uM in the calmodulin modules), L; suffix j is the junctional cleft (also
 * called dyad), sl the subsarcolemmal shell, i the cytosol, o the bath, SR the sarcoplasmic
 * reticulum. All Q10 factors are 1 at 310 K and left out.
 *
 * Sources: Shannon et al., Biophys. J. 87 (2004) 3351; Saucerman and Bers, Biophys. J. 95
 * (2008) 4597.
 */
#ifndef RIFT_MYOCYTE_MODEL_CONSTANTS_CUH
#define RIFT_MYOCYTE_MODEL_CONSTANTS_CUH

namespace myocyte
{
/* ---- physics and geometry -------------------------------------------------------------- */

constexpr double pi_m = 3.1416; /* the benchmark's pi, 2e-6 off: the data were made with it */
constexpr double F = 96485;	/* C/mol */
constexpr double FRT = F / 8314 / 310; /* F/RT at 310 K, 1/mV */
constexpr double C_m = 1.3810e-10;     /* F */

constexpr double Vol_cell = pi_m * (10.25 * 10.25) * 100 * 1e-15; /* L, a cylinder in um */
constexpr double Vol_myo = 0.65 * Vol_cell;
constexpr double Vol_SR = 0.035 * Vol_cell;
constexpr double Vol_sl = 0.02 * Vol_cell;
constexpr double Vol_j = 0.0539 * 0.01 * Vol_cell;

/* Diffusion between neighbours, L/ms. */
constexpr double D_Ca_jsl = 1 / 1.2134e12;
constexpr double D_Ca_slmyo = 1 / 2.68510e11;
constexpr double D_Na_jsl = 1 / (1.6382e12 / 3 * 100);
constexpr double D_Na_slmyo = 1 / (1.8308e10 / 3 * 100);

/* Shares of the sarcolemma, and of the L-type channels. */
constexpr double F_j = 0.11, F_sl = 1 - F_j;
constexpr double FCaL_j = 0.9, FCaL_sl = 1 - FCaL_j;

/* ---- fixed concentrations, mM ---------------------------------------------------------- */

constexpr double K_o = 5.4, Na_o = 140, Ca_o = 1.8, Mg_i = 1;
constexpr double E_Cl = -2.302585092994045684 / FRT; /* ln(Cl_i/Cl_o)/FRT, 15 and 150 mM */

/* ---- membrane: mS/uF, A/F, cm/s, mM ---------------------------------------------------- */

constexpr double G_Na = 16.0, G_Nab = 0.297e-3;
constexpr double I_NaK_max = 1.90719, Km_Nai = 11, Km_Ko = 1.5;
constexpr double sigma_NaK = 1.0009103049457282; /* (exp(Na_o/67.3) - 1)/7 */
constexpr double g_Kr = 0.03;			 /* times sqrt(K_o/5.4), which is 1 */
constexpr double p_NaK = 0.01833;
constexpr double G_tos = 0.06, G_tof = 0.02;
constexpr double G_Kp = 0.001;
constexpr double G_ClCa = 0.109625, Kd_ClCa = 100e-3, G_Clb = 9e-3;
constexpr double P_Na = 1.5e-8, P_Ca = 5.4e-4, P_K = 2.7e-7;
constexpr double I_NCX_max = 9.0, k_sat = 0.27, nu = 0.35, Kd_act = 0.256e-3;
constexpr double KmN_Cai = 3.59e-3, KmN_Cao = 1.3, KmN_Nai = 12.29, KmN_Nao = 87.5;
constexpr double I_pCa_max = 0.0673, Km_pCa_1_6 = 5.228197762956363e-06; /* pow(0.5e-3, 1.6) */
constexpr double G_Cab = 2.513e-4;
constexpr double A_stim = 9.5, t_stim = 5; /* A/F, depolarising, for so many ms */

/* ---- sarcoplasmic reticulum ------------------------------------------------------------ */

constexpr double Vmax_serca = 2.86e-4, Km_f = 0.246e-3, Km_r = 1.7, H_serca = 1.787;
constexpr double k_s = 25, k_leak = 5.348e-6;
constexpr double ko_Ca = 10, k_om = 0.06, ki_Ca = 0.5, k_im = 0.005;
constexpr double EC50_SR = 0.45, Max_SR = 15, Min_SR = 1;

/* ---- buffers: sites in mM, rates per ms ------------------------------------------------ */

constexpr double B_Na_j = 7.561, B_Na_sl = 1.65, koff_Na = 1e-3, kon_Na = 0.1e-3;
constexpr double B_TnCL = 70e-3, koff_TnCL = 19.6e-3, kon_TnCL = 32.7;
constexpr double B_TnCH = 140e-3, koff_TnCHc = 0.032e-3, kon_TnCHc = 2.37;
constexpr double koff_TnCHm = 3.33e-3, kon_TnCHm = 3e-3;
constexpr double B_Myo = 140e-3, koff_Myoc = 0.46e-3, kon_Myoc = 13.8;
constexpr double koff_Myom = 0.057e-3, kon_Myom = 0.0157;
constexpr double B_SR = 19 * 0.9e-3, koff_SR = 60e-3, kon_SR = 100;
constexpr double B_SLLsl = 37.38e-3 * Vol_myo / Vol_sl, B_SLLj = 4.62e-3 * Vol_myo / Vol_j * 0.1;
constexpr double koff_SLL = 1300e-3, kon_SLL = 100;
constexpr double B_SLHsl = 13.35e-3 * Vol_myo / Vol_sl, B_SLHj = 1.65e-3 * Vol_myo / Vol_j * 0.1;
constexpr double koff_SLH = 30e-3, kon_SLH = 100;
constexpr double B_Csqn = 2.7, koff_Csqn = 65, kon_Csqn = 100;

/* ---- calmodulin modules: 1/s, 1/(uM s), 1/(uM^2 s) ------------------------------------- */

constexpr double K_mod = 135, Mg_mod = 1; /* mM; Mg of 1 mM and below */
constexpr double Kd02 =
	0.0025 * (1 + K_mod / 0.94 - Mg_mod / 0.012) * (1 + K_mod / 8.1 + Mg_mod / 0.022);
constexpr double Kd24 =
	0.128 * (1 + K_mod / 0.64 + Mg_mod / 0.0014) * (1 + K_mod / 13.0 - Mg_mod / 0.153);
constexpr double k20 = 10, k42 = 500, k02 = k20 / Kd02, k24 = k42 / Kd24;
constexpr double k0Boff = 0.0014, k0Bon = k0Boff / 0.2, k2Boff = k0Boff / 100, k2Bon = k0Bon;
constexpr double k4Boff = k2Boff, k4Bon = k0Bon, k20B = k20 / 100, k42B = k42;
constexpr double kbi = 2.2, kib = kbi / 33.5e-3, kib2 = kib, kb2i = kib2 * 5;
constexpr double kb42 = k42 * 33.5e-3 / 5, kta = kbi / 1000, kat = kib;
constexpr double kt42 = k42 * 33.5e-6 / 5, kat2 = kib, kt2a = kib * 5;
constexpr double kpp1 = 1.72, Kmpp1 = 11.5;
constexpr double kcanCaoff = 1, kcanCaon = kcanCaoff / 0.5;
constexpr double kcanCaM4on = 46, kcanCaM4off = 0.0013;
constexpr double kcanCaM2on = kcanCaM4on, kcanCaM2off = 2508 * kcanCaM4off;
constexpr double kcanCaM0on = kcanCaM4on, kcanCaM0off = 165 * kcanCaM2off;
constexpr double k20can = k20 / 165;
constexpr double k42can = k20 / 2508; /* k20, not k42: as published */

/* ---- exchange between the modules ------------------------------------------------------ */

constexpr double Btot_x = 1.54 / 8.293e-4; /* uM; the benchmark uses Btot_dy instead */
constexpr double VolC_myo = 2.1454e-11, VolC_dy = 1.7790e-14, VolC_sl = 6.6013e-13; /* L */
constexpr double k_slmyo = 8.587e-15;						    /* L/ms */
} // namespace myocyte

#endif
